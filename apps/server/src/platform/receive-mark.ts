import type { Socket } from "node:net";

/** Where Linux has the same numbers on every machine that Node has a release for. */
const MACHINES = ["x64", "arm64"];
const SOL_SOCKET = 1;
const SO_RCVLOWAT = 18;
const INT_BYTES = 4;

/** Let a socket's reader sleep until so many bytes have come, or its end. 1 wakes it for any byte, and at once where some have come. */
export type SetReceiveMark = (socket: Socket, bytes: number) => void;

/**
 * The low-water mark of a receive buffer (`SO_RCVLOWAT`, socket(7)), which Node has no call for. Null where the system has none that wakes
 * a reader (Linux has since 4.18), or where it cannot be called: then readers are woken for every byte.
 */
export async function loadReceiveMark(importKoffi = () => import("koffi")): Promise<SetReceiveMark | null> {
  if (process.platform !== "linux" || !MACHINES.includes(process.arch)) return null;
  const prototype = "int setsockopt(int socket, int level, int name, const void *value, uint32_t length)";
  const setsockopt = await importKoffi()
    .then((koffi) => koffi.load(null).func(prototype))
    .catch(() => null);
  if (!setsockopt) return null;
  const value = new Int32Array(1);
  return (socket, bytes) => {
    const descriptor = descriptorOf(socket);
    if (descriptor === null) return;
    value[0] = bytes;
    setsockopt(descriptor, SOL_SOCKET, SO_RCVLOWAT, value, INT_BYTES);
  };
}

/** Null where the socket is closed, or encrypted: bytes of a record are none of what it carries. */
function descriptorOf(socket: Socket): number | null {
  const { _handle, encrypted } = socket as unknown as { _handle?: { fd?: number } | null; encrypted?: boolean };
  const descriptor = encrypted ? undefined : _handle?.fd;
  return descriptor !== undefined && descriptor >= 0 ? descriptor : null;
}
