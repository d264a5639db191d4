"""A file system in user space that shows a directory elsewhere, in as few words as the log of pleatd needs. Whoever stops
its process (SIGSTOP) has a file system that hangs, with all that is open in it, and SIGCONT lets it go on. From SIGUSR1 to
SIGUSR2 the quota is used up.

    loopback_fuse.py DIRECTORY PLACE      mounts it at PLACE, says "mounted", and serves it until it is unmounted
"""

import ctypes
import errno
import os
import signal
import stat
import struct
import sys

(LOOKUP, FORGET, GETATTR, SETATTR, MKNOD, MKDIR, UNLINK, RMDIR, RENAME, OPEN, READ, WRITE, STATFS, RELEASE, FSYNC, FLUSH, INIT,
 OPENDIR, READDIR, RELEASEDIR, FSYNCDIR, ACCESS, CREATE, INTERRUPT, DESTROY, BATCH_FORGET, RENAME2) = (
    1, 2, 3, 4, 8, 9, 10, 11, 12, 14, 15, 16, 17, 18, 20, 25, 26, 27, 28, 29, 30, 34, 35, 36, 38, 42, 45)
WITHOUT_ANSWER = (FORGET, BATCH_FORGET, INTERRUPT)
ROOT = 1
SET_MODE, SET_SIZE, BY_HANDLE = 1, 8, 1
BIG_WRITES = 1 << 5


def name_of(data):
    return data.rstrip(b"\0")


class Loopback:
    def __init__(self, directory):
        self.paths = {ROOT: directory.encode()}  # of the nodes that the kernel may ask for
        self.full = False  # of what the quota allows

    def use_up(self, number, _):
        self.full = number == signal.SIGUSR1

    def path(self, node, name):
        return os.path.join(self.paths[node], name_of(name))

    def attributes(self, found):
        return struct.pack("6Q10I", found.st_ino, found.st_size, found.st_blocks, int(found.st_atime), int(found.st_mtime),
                           int(found.st_ctime), 0, 0, 0, found.st_mode, found.st_nlink, found.st_uid, found.st_gid, 0, 4096, 0)

    def entry(self, path):
        found = os.lstat(path)
        self.paths[found.st_ino] = path
        return struct.pack("4Q2I", found.st_ino, 0, 0, 0, 0, 0) + self.attributes(found)

    def stat(self, node, handle=None):
        found = os.fstat(handle) if handle is not None else os.lstat(self.paths[node])
        return struct.pack("Q2I", 0, 0, 0) + self.attributes(found)

    def answer(self, opcode, node, data):
        name = data
        if self.full and opcode in (WRITE, CREATE, MKDIR, MKNOD):
            raise OSError(errno.EDQUOT, "")
        if opcode == INIT:
            return struct.pack("4I2H2I2H3I", 7, 31, 65536, BIG_WRITES, 16, 12, 65536, 1, 0, 0, 0, 0, 0).ljust(64, b"\0")
        if opcode == LOOKUP:
            return self.entry(self.path(node, name))
        if opcode == GETATTR:
            flags, _, handle = struct.unpack_from("2IQ", data)
            return self.stat(node, handle if flags & BY_HANDLE else None)
        if opcode == SETATTR:
            what, _, _, size = struct.unpack_from("2I2Q", data)
            if what & SET_SIZE:
                os.truncate(self.paths[node], size)
            if what & SET_MODE:
                os.chmod(self.paths[node], struct.unpack_from("I", data, 68)[0])
            return self.stat(node)
        if opcode in (MKNOD, MKDIR):
            mode, skipped = struct.unpack_from("I", data)[0], 16 if opcode == MKNOD else 8
            path = self.path(node, data[skipped:])
            if opcode == MKNOD:
                os.mknod(path, mode)
            else:
                os.mkdir(path, mode)
            return self.entry(path)
        if opcode in (UNLINK, RMDIR):
            (os.unlink if opcode == UNLINK else os.rmdir)(self.path(node, name))
            return b""
        if opcode in (RENAME, RENAME2):
            to, skipped = struct.unpack_from("Q", data)[0], 8 if opcode == RENAME else 16
            old, new = data[skipped:].split(b"\0")[:2]
            os.rename(self.path(node, old), self.path(to, new))
            self.entry(self.path(to, new))
            return b""
        if opcode == CREATE:
            flags, mode = struct.unpack_from("2I", data)
            path = self.path(node, data[16:])
            handle = os.open(path, flags & ~os.O_NOFOLLOW, mode)
            return self.entry(path) + struct.pack("Q2I", handle, 0, 0)
        return self.of_open(opcode, node, data)

    def of_open(self, opcode, node, data):
        handle = struct.unpack_from("Q", data)[0] if len(data) >= 8 else 0
        if opcode in (OPEN, OPENDIR):
            flags = struct.unpack_from("I", data)[0] & ~(os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_APPEND)
            return struct.pack("Q2I", os.open(self.paths[node], flags), 0, 0)
        if opcode in (READ, WRITE):
            _, offset, size = struct.unpack_from("2QI", data)
            if opcode == READ:
                return os.pread(handle, size, offset)
            return struct.pack("2I", os.pwrite(handle, data[40:40 + size], offset), 0)
        if opcode == READDIR:
            return self.entries(node, *struct.unpack_from("2QI", data)[1:])
        if opcode in (RELEASE, RELEASEDIR):
            os.close(handle)
        elif opcode == FSYNC:
            os.fsync(handle)
        elif opcode == STATFS:
            found = os.statvfs(self.paths[node])
            return struct.pack("5Q4I", found.f_blocks, found.f_bfree, found.f_bavail, found.f_files, found.f_ffree,
                               found.f_bsize, found.f_namemax, found.f_frsize, 0).ljust(80, b"\0")
        elif opcode not in (FLUSH, FSYNCDIR, ACCESS, DESTROY):
            raise OSError(errno.ENOSYS, "")
        return b""

    def entries(self, node, offset, size):
        out = b""
        for at, name in enumerate(sorted(os.listdir(self.paths[node]))):
            found = os.lstat(os.path.join(self.paths[node], name))
            one = struct.pack("2Q2I", found.st_ino, at + 1, len(name), stat.S_IFMT(found.st_mode) >> 12) + name
            one = one.ljust((len(one) + 7) // 8 * 8, b"\0")
            if at >= offset and len(out) + len(one) <= size:
                out += one
            elif at >= offset:
                break
        return out

    def serve(self, device):
        while True:
            try:
                request = os.read(device, 1 << 20)
            except OSError as failure:
                if failure.errno == errno.ENODEV:  # unmounted
                    return
                if failure.errno in (errno.ENOENT, errno.EINTR):  # who asked has been interrupted
                    continue
                raise
            _, opcode, unique, node = struct.unpack_from("2I2Q", request)
            if opcode in WITHOUT_ANSWER:
                continue
            error, body = 0, b""
            try:
                body = self.answer(opcode, node, request[40:])
            except OSError as failure:
                error = -failure.errno
            except KeyError:
                error = -errno.ESTALE
            try:
                os.write(device, struct.pack("IiQ", 16 + len(body), error, unique) + body)
            except OSError as failure:
                if failure.errno != errno.ENOENT:  # who asked has been killed
                    raise


def main(directory, place):
    os.umask(0)
    device = os.open("/dev/fuse", os.O_RDWR)
    options = f"fd={device},rootmode=40000,user_id={os.getuid()},group_id={os.getgid()},allow_other"
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.mount(b"loopback", place.encode(), b"fuse", 0, options.encode()):
        sys.exit(f"FUSE cannot be mounted here: {os.strerror(ctypes.get_errno())}")
    loopback = Loopback(directory)
    for number in (signal.SIGUSR1, signal.SIGUSR2):
        signal.signal(number, loopback.use_up)
    print("mounted", flush=True)
    loopback.serve(device)


if __name__ == "__main__":
    main(*sys.argv[1:])
