import { expect, test, vi } from "vitest";
import { drawPicture, PictureLoader } from "./picture-loader.ts";

const picture = (url: string) => ({ startSeconds: 0, url, part: null });
const settled = () => new Promise((resolve) => setImmediate(resolve));

test("a pointer that passes many pictures loads the first and the last", async () => {
  const asked: string[] = [];
  const drawn: string[] = [];
  const gate = Promise.withResolvers<void>();
  const load = async (url: string) => {
    asked.push(url);
    await gate.promise;
    return { naturalWidth: 160, naturalHeight: 90 };
  };
  const loader = new PictureLoader(load, ({ url }) => void drawn.push(url));
  for (const url of ["a", "b", "c", "d"]) loader.want(picture(url));
  expect(asked).toEqual(["a"]);
  gate.resolve();
  await vi.waitUntil(() => drawn.length === 2);
  expect([asked, drawn]).toEqual([
    ["a", "d"],
    ["a", "d"],
  ]);
});

test("a picture that does not load keeps no other from loading", async () => {
  const drawn: string[] = [];
  const load = (url: string) =>
    url === "broken" ? Promise.reject(new Error("503")) : Promise.resolve({ naturalWidth: 1, naturalHeight: 1 });
  const loader = new PictureLoader(load, ({ url }) => void drawn.push(url));
  loader.want(picture("broken"));
  await settled();
  loader.want(picture("good"));
  await vi.waitUntil(() => drawn.length === 1);
  expect(drawn).toEqual(["good"]);
});

test("a part of a file is cut out and fits into the box, whatever its shape", () => {
  const element = { style: {} as Record<string, string> };
  const sprite = { ...picture("s.jpg"), part: { x: 320, y: 180, width: 320, height: 180 } };
  const box = { width: 160, height: 90 };
  drawPicture(element as never, sprite, { naturalWidth: 3200, naturalHeight: 1800 }, box);
  expect(element.style).toMatchObject({
    ...{ width: "160px", height: "90px", backgroundSize: "1600px 900px", backgroundPosition: "-160px -90px" },
  });
  drawPicture(element as never, picture("portrait.jpg"), { naturalWidth: 360, naturalHeight: 640 }, box);
  expect(element.style).toMatchObject({ width: "50.625px", height: "90px", backgroundPosition: "0px 0px" });
});
