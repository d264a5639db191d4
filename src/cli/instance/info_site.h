/* info_site.h - what a site offers this user, for `pleat info SITE` */
#ifndef PLEAT_CLI_INSTANCE_INFO_SITE_H
#define PLEAT_CLI_INSTANCE_INFO_SITE_H

/* Asks the daemon, and shows it. Returns an exit code. Waits up to two seconds for the answer of a
 * batch system. */
int pleat_info_site(const char *name);

#endif
