/*
 * Which names a request may ask for. Somebody else's web page can have its own name lead to this
 * machine (DNS rebinding). A browser would then let it read what is served here, but its request
 * has that name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether a request with this Host field ("localhost:5001", "[::1]:5001", "trainer") is answered:
 * where that is an address in numbers, "localhost" or one of `names`. These have commas between
 * them; "*" is any name. Case and the port do not matter. An empty value is fine: browsers always
 * send one.
 */
bool host_name_is_served(const char *host, size_t length, const char *names);
