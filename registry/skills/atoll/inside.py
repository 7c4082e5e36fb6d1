#!/usr/bin/env python3
"""What this sandbox has: limits as the kernel tells them, skills by name."""
import os
import resource


def facts():
    def limit(which):
        value = resource.getrlimit(which)[0]
        return None if value == resource.RLIM_INFINITY else value

    disk = os.statvfs(".")
    skills = sorted(name for name in (os.listdir("skills") if os.path.isdir("skills") else [])
                    if os.path.isfile(os.path.join("skills", name, "SKILL.md")))
    return {"directory": os.getcwd(), "processors": len(os.sched_getaffinity(0)),
            "open_files": limit(resource.RLIMIT_NOFILE), "disk_free_mb": disk.f_bavail * disk.f_frsize >> 20,
            "skills": skills}


if __name__ == "__main__":
    for name, value in facts().items():
        print(f"{name}: {value}")
