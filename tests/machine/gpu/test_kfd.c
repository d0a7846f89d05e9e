/* What KFD lists of processes, whose pids are those of the kernel's first namespace. */
#include "fake_sysfs.h"
#include "machine/gpu/amdgpu.h"

#define MAIN 57
#define GPU_ID 4660

static struct gpu_process_list list;
static char procfs[128];

/* We are 57, in a namespace of that inode. A client of the card has 30 bytes; KFD has 100. */
static void read_in_namespace(const char *inode)
{
    char path[192], target[32];
    const pid_t pids[] = {MAIN};
    const struct gpu_tracked tracked = {pids, 1};
    const struct kfd_card cards[] = {{.gpu_ids = {GPU_ID}, .n_ids = 1}};
    assert_int_equal(fake_sysfs_create(), 0);
    snprintf(procfs, sizeof procfs, "%s/proc", fake_sysfs);
    fake_sysfs_write("proc/57/ns/other", "");
    fake_sysfs_write("proc/57/fd/other", "");
    snprintf(path, sizeof path, "%s/self", procfs);
    assert_int_equal(symlink("57", path), 0);
    snprintf(path, sizeof path, "%s/57/ns/pid", procfs);
    snprintf(target, sizeof target, "pid:[%s]", inode);
    assert_int_equal(symlink(target, path), 0);
    fake_sysfs_write("class/kfd/kfd/proc/57/vram_4660", "100\n");
    list = (struct gpu_process_list){0};
    gpu_process_list_add(
        &list, (struct gpu_process){.pid = MAIN, .client = 3, .ram_bytes = 30, .sm_percent = 5});
    kfd_processes_read(fake_sysfs, procfs, &tracked, cards, 1, &list);
}

static int finish(void **state)
{
    gpu_process_list_finish(&list);
    return fake_sysfs_remove(state);
}

TEST_WITH(memory_counts_once_next_to_that_of_clients, NULL, finish)
{
    read_in_namespace("4026531836");
    assert_int_equal(list.count, 2);
    assert_true(list.entries[0].ram_bytes == 0 && list.entries[1].ram_bytes == 100);
    assert_false(list.pids_unproven);
}

TEST_WITH(inside_a_container_its_pids_are_not_ours, NULL, finish)
{
    read_in_namespace("4026532000");
    assert_int_equal(list.count, 2);
    assert_true(list.entries[0].ram_bytes == 30 && list.entries[1].ram_bytes == 100);
    assert_int_equal(list.entries[1].client, 0);
    assert_true(list.pids_unproven && list.lacks_compute[0]);
}

/* Adds a node of the topology. */
static void put_node(unsigned number, unsigned gpu_id, unsigned location, unsigned minor)
{
    char path[96], text[128];
    snprintf(path, sizeof path, "class/kfd/kfd/topology/nodes/%u/gpu_id", number);
    snprintf(text, sizeof text, "%u\n", gpu_id);
    fake_sysfs_write(path, text);
    snprintf(path, sizeof path, "class/kfd/kfd/topology/nodes/%u/properties", number);
    snprintf(text, sizeof text,
        "cpu_cores_count 0\nlocation_id %u\ndomain 0\ndrm_render_minor %u\n", location, minor);
    fake_sysfs_write(path, text);
}

/* In mode CPX each partition has a node, and a render node that is not of the PCI device. */
TEST_WITH(a_card_has_the_nodes_of_its_partitions, NULL, finish)
{
    struct kfd_card found;
    struct drm_card card = {.pci_address = "0000:0c:00.0"}, other = {.pci_address = "0000:0d:00.0"};
    const pid_t pids[] = {MAIN};
    const struct gpu_tracked tracked = {pids, 1};
    assert_int_equal(fake_sysfs_create(), 0);
    put_node(1, 50, 0x0d00, 140);
    for (unsigned i = 0; i < 4; i++)
        put_node(2 + i, 40 + i, 0x0c00 | i, 128 + i);
    kfd_find_card(fake_sysfs, &card, 128, false, &found);
    assert_int_equal(found.n_ids, 4);
    assert_int_equal(found.gpu_ids[3], 43);
    assert_int_equal(found.number, 2);
    kfd_find_card(fake_sysfs, &other, 140, false, &found);
    assert_int_equal(found.n_ids, 1);
    assert_int_equal(found.number, 1);

    kfd_find_card(fake_sysfs, &card, 128, false, &found);
    snprintf(procfs, sizeof procfs, "%s/proc", fake_sysfs);
    fake_sysfs_write("class/kfd/kfd/proc/57/vram_40", "7\n");
    fake_sysfs_write("class/kfd/kfd/proc/57/vram_43", "100\n");
    list = (struct gpu_process_list){0};
    kfd_processes_read(fake_sysfs, procfs, &tracked, &found, 1, &list);
    assert_int_equal(list.count, 1);
    assert_true(list.entries[0].ram_bytes == 107);
}

RUN_TESTS(NULL, NULL)
