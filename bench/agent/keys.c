/* Prints a pair of keys for peer_zmq: the secret one and the public one, a line each. */
#include <stdio.h>
#include <zmq.h>

int main(void)
{
    char public[41], secret[41];
    if (zmq_curve_keypair(public, secret))
        return 1;
    printf("%s\n%s\n", secret, public);
    return 0;
}
