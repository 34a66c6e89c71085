/* Disk: the files of the product's state directories, with what can happen to them.
 *
 * The program defines write, fsync, rename … itself, so calls of RocksDB and of state.c come here
 * (disk.c). Everything is done for real in a directory in memory; beside it is kept what a power
 * cut would leave: how much of a file was synced, which names were synced with their directory.
 *
 * A host has one state directory at a time, `host<H>.<N>`, relative to the working directory. After
 * a crash the next life gets a new one: a copy of what was left. The old one belongs to the dead.
 */
#ifndef TESTS_SIMULATION_DISK_H
#define TESTS_SIMULATION_DISK_H

#include <stdbool.h>
#include <stdint.h>

enum { DISK_HOSTS = 2 };

void disk_open(uint64_t seed);
const char *disk_dir(int host);
/* Which process uses the host's disk from now on. */
void disk_attach(int host, int group);

/* Is it time to merge the files of the database? */
bool disk_wants_compaction(void);

/* One operation in `n` fails (no space, input/output error), or writes only a part; 0: none. */
void disk_set_failures(uint32_t n);
void disk_let_reads_fail(bool may_fail);
/* While false: a merge is made, whose tables are synced well. */
void disk_let_merges_fail(bool may_fail);
/* Every write fails, until there is space again. */
void disk_set_full(int host, bool full);
/* The process that uses the disk dies in the middle of its nth operation from now. */
void disk_crash_in(int host, uint32_t operations);

/* The process is dead: what is left is in disk_dir from now on. `power`: unsynced data is lost. */
void disk_crash(int host, bool power);
/* Nobody uses the disk: its directory is gone. */
void disk_wipe(int host);
/* Nobody uses the disk: bytes of a file of the database are changed, or the file is gone. */
void disk_damage(int host);

#endif
