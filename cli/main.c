#include <gputracker/gputracker.h>

#include <stdio.h>

int main(void)
{
    printf("%s\n", gput_version());
    return 0;
}
