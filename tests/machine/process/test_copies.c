/* What forks have copied, of made-up figures: their faults, and readings of some of them. */

#include "machine/process/copies.h"
#include "testing.h"

#include <string.h>

#define MB (UINT64_C(1) << 20)
#define PAGE UINT64_C(4096)
#define FAULTS_OF(bytes) ((bytes) / PAGE)

/* A family: the first is what the others were forked from. */
struct family {
    struct process processes[4], *members[4];
    struct polled polled[4];
    size_t count;
};

static void set_up(struct family *family, size_t count, uint64_t shared_bytes)
{
    memset(family, 0, sizeof *family);
    family->count = count;
    for (size_t i = 0; i < count; i++) {
        family->members[i] = &family->processes[i];
        family->processes[i].polled = &family->polled[i];
        family->polled[i].memory.resident_bytes = shared_bytes;
    }
    family->processes[0].is_main = true;
    /* Main was read before it forked. */
    family->polled[0].metered.copies.has_basis = true;
    family->polled[0].metered.copies.own_bytes = shared_bytes;
    family->polled[0].metered.copies.share_bytes = shared_bytes;
    family->polled[0].metered.copies.basis_anonymous_bytes = shared_bytes;
    family->polled[0].metered.copies.alone_bytes = shared_bytes;
    family->polled[0].metered.forks.any = count > 1;
    for (size_t i = 0; i < count; i++)
        copies_begin(family->members[i], i ? family->members[0] : NULL);
}

/* A reading that finds so much of a process's memory to be its own. */
static void read_one(struct family *family, size_t index, uint64_t own_bytes)
{
    struct polled *polled = &family->polled[index];
    polled->memory.has_exact = true;
    polled->memory.exact_resident_bytes = polled->memory.resident_bytes;
    polled->memory.anonymous_bytes = polled->memory.resident_bytes;
    polled->memory.anonymous_private_bytes = own_bytes;
    polled->metered.exact.faults = polled->stat.minor_faults;
    copies_add_reading(
        family->members[index], family->members, family->count, PAGE, (int64_t)index + 1);
}

static struct family_memory sum(const struct family *family)
{
    return family_memory_of(family->members, family->count, PAGE);
}

TEST(a_fork_has_nothing_of_its_own)
{
    struct family family;
    set_up(&family, 3, 60 * MB);
    assert_int_equal(copies_alone_bytes(family.members[0], family.members, 3, PAGE), 0);
    assert_int_equal(sum(&family).bytes, 60 * MB);
    assert_int_equal(sum(&family).highest_bytes, 60 * MB);
    assert_int_equal(sum(&family).certain_bytes, 60 * MB);
}

/* Faults are no copies until a reading says so. */
TEST(faults_count_by_the_part_that_a_reading_found)
{
    struct family family;
    set_up(&family, 3, 60 * MB);
    for (int i = 1; i < 3; i++)
        family.polled[i].stat.minor_faults = FAULTS_OF(20 * MB);
    assert_int_equal(sum(&family).bytes, 60 * MB);
    assert_int_equal(sum(&family).highest_bytes, 100 * MB);
    assert_true(sum(&family).is_unread);
    read_one(&family, 1, 15 * MB);
    assert_false(sum(&family).is_unread);
    /* 15 of the first, and as large a part of the faults of the second, which was not read. */
    assert_int_equal(sum(&family).bytes, 90 * MB);
    assert_int_equal(sum(&family).certain_bytes, 60 * MB);
    family.polled[1].stat.minor_faults += FAULTS_OF(4 * MB);
    assert_int_equal(sum(&family).bytes, 93 * MB);
}

/* A program that takes memory and gives it back faults for ever. */
TEST(faults_of_memory_that_is_given_back_do_not_count)
{
    struct family family;
    set_up(&family, 3, 60 * MB);
    family.polled[1].stat.minor_faults = FAULTS_OF(1024 * MB);
    read_one(&family, 1, 0);
    family.polled[1].stat.minor_faults += FAULTS_OF(1024 * MB);
    family.polled[2].stat.minor_faults = FAULTS_OF(2048 * MB);
    assert_int_equal(sum(&family).bytes, 60 * MB);
    assert_int_equal(sum(&family).highest_bytes, 60 * MB);
}

TEST(growth_is_no_copy)
{
    struct family family;
    set_up(&family, 2, 60 * MB);
    family.polled[1].memory.resident_bytes = 70 * MB;
    family.polled[1].stat.minor_faults = FAULTS_OF(10 * MB);
    assert_int_equal(sum(&family).bytes, 70 * MB);
    assert_int_equal(sum(&family).highest_bytes, 70 * MB);
}

/* A page that all forks have copied is main's alone, and was counted before. */
TEST(what_main_has_alone_by_that_is_no_copy)
{
    struct family family;
    set_up(&family, 3, 60 * MB);
    for (int i = 1; i < 3; i++) {
        family.polled[i].stat.minor_faults = FAULTS_OF(20 * MB);
        read_one(&family, (size_t)i, 20 * MB);
    }
    assert_int_equal(sum(&family).bytes, 100 * MB);
    assert_int_equal(copies_alone_bytes(family.members[0], family.members, 3, PAGE), 20 * MB);
    family.polled[0].stat.minor_faults = FAULTS_OF(30 * MB);
    read_one(&family, 0, 25 * MB);
    assert_int_equal(sum(&family).bytes, 105 * MB); /* 5 of main's 25 are its copies */
    assert_int_equal(copies_alone_bytes(family.members[0], family.members, 3, PAGE), 25 * MB);
}

/* Forks keep what they have from a process that has ended. */
TEST(what_an_ended_process_left_to_its_forks_counts)
{
    struct family family;
    set_up(&family, 3, 60 * MB);
    family.polled[1].stat.minor_faults = FAULTS_OF(10 * MB);
    read_one(&family, 1, 10 * MB);
    assert_int_equal(sum(&family).bytes, 70 * MB);
    assert_int_equal(family_memory_of(family.members + 1, 2, PAGE).bytes, 70 * MB);
}

/* A fork that came after all others were read. */
TEST(readings_of_one_moment_are_a_new_basis)
{
    struct family family;
    set_up(&family, 3, 60 * MB);
    for (size_t i = 0; i < 3; i++) {
        struct memory *memory = &family.polled[i].memory;
        memory->has_exact = true;
        memory->exact_resident_bytes = memory->anonymous_bytes = 60 * MB;
        memory->anonymous_private_bytes = 12 * MB;
        memory->anonymous_pss_bytes = 28 * MB; /* 48 that three share */
    }
    copies_set_basis(family.members, 3, PAGE);
    assert_int_equal(sum(&family).bytes, 84 * MB);
    assert_int_equal(sum(&family).certain_bytes, 84 * MB);
    assert_int_equal(sum(&family).highest_bytes, 84 * MB);
    /* Some forks were not seen then: their shares are missing, and the memory is not. */
    for (size_t i = 0; i < 3; i++)
        family.polled[i].memory.anonymous_pss_bytes = 20 * MB;
    copies_set_basis(family.members, 3, PAGE);
    assert_int_equal(sum(&family).bytes, 84 * MB);
    assert_int_equal(sum(&family).certain_bytes, 60 * MB);
}

RUN_TESTS(NULL, NULL)
