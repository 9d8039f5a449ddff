/** A comment, or an event with data, from a stream of server-sent events. */
export type ServerSent = { readonly comment: string } | { readonly data: string };

/** The connection is open but delivers nothing any more. */
class Silence extends Error {}

/**
 * The comments and events of a body (WHATWG HTML, 9.2.6), as they arrive. Throws when the connection is lost, or silent for `silenceMs`; an
 * incomplete event is dropped.
 */
export async function* readServerSent(
  body: ReadableStream<Uint8Array>,
  silenceMs: number,
): AsyncGenerator<ServerSent, void> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let data: string[] = [];
  try {
    for (;;) {
      const { value, done } = await within(silenceMs, reader.read());
      if (done) return;
      const lines = (text + decoder.decode(value, { stream: true })).split(/\r\n|\n|\r(?!$)/);
      text = lines.pop() ?? "";
      for (const line of lines) {
        if (line.startsWith(":")) yield { comment: line.slice(1).trim() };
        else if (line.startsWith("data:")) data.push(line.slice("data:".length).replace(/^ /, ""));
        else if (line === "" && data.length > 0) {
          yield { data: data.join("\n") };
          data = [];
        }
      }
    }
  } finally {
    await reader.cancel().catch(() => {});
  }
}

async function within<T>(ms: number, result: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const silence = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Silence(`nothing came for ${ms / 1000} s`)), ms);
  });
  try {
    return await Promise.race([result, silence]);
  } finally {
    clearTimeout(timer);
  }
}
