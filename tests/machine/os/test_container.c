#include "machine/os/mountinfo.h"

#include "testing.h"

#include <string.h>

#define ID "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define POD "01234567-89ab-cdef-0123-456789abcdef"
#define POD_OF_SYSTEMD "01234567_89ab_cdef_0123_456789abcdef"

static void assert_found(
    const char *groups, const char *mounts, const char *cgroup, const char *id, const char *pod)
{
    struct container container;
    container_parse(groups, mounts, &container);
    assert_string_equal(container.cgroup, cgroup);
    assert_string_equal(container.id, id);
    assert_string_equal(container.pod, pod);
}

TEST(knows_none_on_a_machine)
{
    assert_found("0::/user.slice/user-0.slice/session-1.scope\n", "",
        "/user.slice/user-0.slice/session-1.scope", "", "");
    assert_found("", "", "", "", "");
    assert_found("0::\nno line", "no mount\n", "", "", "");
}

TEST(reads_ids_of_control_groups)
{
    assert_found(
        "0::/system.slice/docker-" ID ".scope\n", "", "/system.slice/docker-" ID ".scope", ID, "");
    assert_found("12:memory:/docker/" ID "\n0::/\n", "", "/docker/" ID, ID, "");
    assert_found("0::/machine.slice/libpod-" ID ".scope/container\n", "",
        "/machine.slice/libpod-" ID ".scope/container", ID, "");
    assert_found("0::/lxc.payload.web/init.scope\n", "", "/lxc.payload.web/init.scope", "web", "");
}

TEST(reads_pods)
{
    assert_found("0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_OF_SYSTEMD
                 ".slice/cri-containerd-" ID ".scope\n",
        "",
        "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" POD_OF_SYSTEMD
        ".slice/cri-containerd-" ID ".scope",
        ID, POD);
    assert_found("4:cpu:/kubepods/burstable/pod" POD "/" ID "\n", "",
        "/kubepods/burstable/pod" POD "/" ID, ID, POD);
}

/* A part that is longer or shorter than an id is not an id. */
TEST(takes_no_other_digits_for_ids)
{
    assert_found("0::/" ID "0\n", "", "/" ID "0", "", "");
    assert_found("0::/podcast/0123\n", "", "/podcast/0123", "", "");
}

TEST(reads_its_own_files_in_a_cgroup_namespace)
{
    assert_found("0::/\n",
        "500 1 8:1 /var/lib/docker/containers/" ID
        "/hostname /etc/hostname rw - ext4 /dev/sda rw\n",
        "/", ID, "");
    assert_found("0::/\n",
        "500 1 8:1 /var/lib/kubelet/pods/" POD "/etc-hosts /etc/hosts rw - ext4 /dev/sda rw\n", "/",
        "", POD);
}

/* Who runs containers has their mounts in sight. */
TEST(takes_no_mount_of_another_container)
{
    assert_found("0::/\n",
        "500 1 8:1 /var/lib/docker/containers/" ID "/hostname /mnt/other rw - ext4 /dev/sda rw\n",
        "/", "", "");
}

RUN_TESTS(NULL, NULL)
