/*
 * Which names a request may ask for. A web page of somebody else can have its own name lead to this
 * machine (DNS rebinding), and a browser would then let it read what is served here: the name that
 * it asked for gives it away.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/*
 * Whether the value of a Host field ("localhost:5001", "[::1]:5001", "trainer") is an address in
 * numbers, "localhost", or one of `names`, which have commas between them ("*": any name is fine).
 * Case and the port do not matter. An empty value is fine: browsers always send one.
 */
bool host_name_is_served(const char *host, size_t length, const char *names);
