import { Socket } from "node:net";

type Taken = (bytes: Uint8Array) => void;

/** All sockets read into one buffer, one after the other: a callback has the bytes until it returns. */
const SHARED = new Uint8Array(64 * 1024);

/**
 * Pass received bytes to `take`, in a buffer that is valid only during the call. This is Node's documented `onread` option, which saves a buffer
 * and a stream event per read, but exists for outgoing sockets only. For an accepted socket this function sets the same fields as the option. If
 * a version of Node has other fields, the socket's `data` event does the same at a higher cost; so it does for an encrypted socket, which may have
 * decrypted bytes already.
 */
export function readInto(socket: Socket, take: Taken): void {
  fields ??= onreadFields();
  const { _handle: handle, encrypted } = socket as unknown as {
    readonly _handle?: { useUserBuffer?(buffer: Uint8Array): void };
    readonly encrypted?: boolean;
  };
  if (encrypted || fields === "unknown" || typeof handle?.useUserBuffer !== "function") {
    socket.on("data", take);
    return;
  }
  Object.assign(socket, {
    [fields.buffer]: SHARED,
    [fields.callback]: (length: number, buffer: Uint8Array): boolean => {
      take(buffer.subarray(0, length));
      return true;
    },
  });
  handle.useUserBuffer(SHARED);
  socket.resume();
}

interface OnreadFields {
  readonly buffer: symbol;
  readonly callback: symbol;
}

let fields: OnreadFields | "unknown" | undefined;

/** The fields in which a socket keeps its `onread` option. */
function onreadFields(): OnreadFields | "unknown" {
  const callback = (): boolean => true;
  const probe = new Socket({ onread: { buffer: SHARED, callback } } as never) as unknown as Record<symbol, unknown>;
  const holding = (value: unknown) => Object.getOwnPropertySymbols(probe).find((symbol) => probe[symbol] === value);
  const found = { buffer: holding(SHARED), callback: holding(callback) };
  return found.buffer && found.callback ? { buffer: found.buffer, callback: found.callback } : "unknown";
}
