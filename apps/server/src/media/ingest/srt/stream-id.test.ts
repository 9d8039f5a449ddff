import fc from "fast-check";
import { expect, test } from "vitest";
import { readStreamId } from "./stream-id.ts";

const KEY = "abcd-1234-efgh-5678";

test.each([
  KEY,
  ` ${KEY}\0\0`,
  `/${KEY}`,
  `live/${KEY}`,
  `video.example.com/live/${KEY}`,
  `srt://video.example.com:8890/live/${KEY}`,
  `publish:${KEY}`,
  `PUBLISH:live/${KEY}:user:password`,
  `${KEY}.stream,mode:publish,token:secret`,
  `${KEY},mode:publish`,
  `${KEY}?token=secret&other=1`,
  `live/${KEY}&latency=200`,
  `#!::r=${KEY}`,
  `#!::r=live/${KEY},m=publish`,
  `#!::m=publish,u=me,r=${KEY}?token=secret,s=password`,
  `#!::m=request,r=${KEY}`,
  `#!::h=live/${KEY},m=publish`,
  `#!::u=${KEY},m=publish`,
  `#!:{r=${KEY},m=publish}`,
  `%23!::r=live/${KEY},m=publish`,
  `%23%21%3A%3Ar%3D${KEY}%2Cm%3Dpublish`,
  `publish%3Alive%2F${KEY}`,
  `${KEY}?token=50%`,
])("%j asks to publish", (streamId) => {
  expect(readStreamId(streamId)).toEqual({ kind: "publish", streamKey: KEY });
});

test.each(["", "  ", "\0", "/", "publish:", "#!::", "#!::m=publish", "?key", ",mode:publish"])(
  "%j has no key",
  (id) => {
    expect(readStreamId(id)).toEqual({ kind: "empty" });
  },
);

test.each([`read:${KEY}`, `play:${KEY}`, `#!::r=${KEY},m=play`, `${KEY},mode:request`])("%j asks to receive", (id) => {
  expect(readStreamId(id)).toEqual({ kind: "receive" });
});

test("a path that climbs never ends at a key", () => {
  for (const climb of ["..", "%2e%2E"])
    expect(readStreamId(`live/${climb}/${KEY}`)).toEqual({ kind: "publish", streamKey: ".." });
});

test("any text is read", () => {
  // Also halves of pairs. `unit: "binary"` takes seconds to build.
  const points = fc.array(fc.integer({ min: 0, max: 0x10ffff }), { maxLength: 512 });
  const texts = points.map((each) => String.fromCodePoint(...each));
  fc.assert(
    fc.property(fc.oneof(fc.string(), texts), (text) => {
      for (const id of [text, `#!::${text}`, `publish:${text}`]) {
        const read = readStreamId(id);
        if (read.kind === "publish") expect(read.streamKey).not.toMatch(/[/?]/);
      }
    }),
  );
});
