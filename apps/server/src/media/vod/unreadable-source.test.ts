import { open } from "node:fs/promises";
import { expect, it } from "vitest";
import { FileRefused } from "./refusal.ts";
import { SourceFile } from "./source-file.ts";

it("a source that the disk cannot read (EIO) is not called damaged", async () => {
  // Nothing is mapped at 0, so that a read is answered EIO.
  await using memory = await open("/proc/self/mem", "r");
  await expect(memory.read(Buffer.alloc(10), 0, 10, 0)).rejects.toMatchObject({ code: "EIO" });
  const opened = SourceFile.open(memory.fd);
  await expect(opened).rejects.toThrow();
  await expect(opened).rejects.not.toBeInstanceOf(FileRefused);
});
