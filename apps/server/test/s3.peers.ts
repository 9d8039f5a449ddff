import { createHash, randomBytes } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../src/platform/clock.ts";
import { Secret } from "../src/platform/secret.ts";
import { testObjectStore } from "../src/platform/storage/object-store-test-suite.ts";
import { S3Bucket } from "../src/platform/storage/s3-bucket.ts";
import { S3ObjectStore } from "../src/platform/storage/s3-object-store.ts";
import { testStore } from "../src/platform/storage/store-self-test.ts";
import { startUploads, tokenOf } from "../src/platform/uploads/upload-test-rig.ts";
import { missingSwift, SwiftStore } from "./support/swift-store.ts";

const TUS = { "tus-resumable": "1.0.0" };

// The distribution's store verifies signatures; the S3 server of the unit tests accepts any.
describe.skipIf(missingSwift !== null)(
  `OpenStack Swift by its S3 interface${missingSwift ? `: ${missingSwift}` : ""}`,
  () => {
    let swift: SwiftStore;
    beforeAll(async () => {
      swift = await SwiftStore.start();
    });
    afterAll(() => swift?.[Symbol.asyncDispose]());

    testObjectStore("OpenStack Swift", async () => new S3ObjectStore(swift.settings, systemClock));

    test("the check at server start passes only with the right secret", async () => {
      const { settings } = swift;
      await testStore(new S3ObjectStore(settings, systemClock));
      const refused = (change: Partial<typeof settings>) =>
        testStore(new S3ObjectStore({ ...settings, ...change }, systemClock)).catch((error: unknown) => error);
      expect(await refused({ secretAccessKey: new Secret("testinG") })).toMatchObject({
        status: 403,
        code: "SignatureDoesNotMatch",
      });
      expect(await refused({ accessKeyId: new Secret("test:nobody") })).toMatchObject({ status: 403 });
      expect(await refused({ bucket: "nowhere" })).toMatchObject({ status: 404, code: "NoSuchBucket" });
    });

    test("a signed URL gives access to its object only, including ranges, and is invalid if changed", async () => {
      const store = new S3ObjectStore(swift.settings, systemClock, { hasAddresses: true });
      await store.put("v1/p/span.m4s", Buffer.from("0123456789"));
      await store.put("v1/p/other.m4s", Buffer.from("another"));
      const url = (await store.urlOf?.("v1/p/span.m4s", 60_000, "video/mp4")) ?? "";
      const whole = await fetch(url);
      expect([whole.status, await whole.text()]).toEqual([200, "0123456789"]);
      const part = await fetch(url, { headers: { range: "bytes=2-4" } });
      expect([part.status, part.headers.get("content-range"), await part.text()]).toEqual([206, "bytes 2-4/10", "234"]);
      const forged = [
        url.replace("span", "other"),
        url.replace(/X-Amz-Expires=\d+/, "X-Amz-Expires=600000"),
        url.replace(/Signature=./, "Signature=g"),
        url.slice(0, url.indexOf("?")),
      ];
      for (const address of forged) expect((await fetch(address)).status).toBeOneOf([400, 403]);
      await store.deletePrefix("v1/p/");
    });

    test("names of customers' files are signed in the store's encoding", async () => {
      const bucket = new S3Bucket(swift.settings, systemClock);
      for (const key of ["a b/c+d.mov", "ä/ü (1)'s *!.mp4", "100%25/~x=y&z?.m4s", "deep/ün/1"]) {
        await bucket.put(key, Buffer.from(key), "video/mp4");
        expect(String(await buffer(await bucket.read(key)))).toBe(key);
        expect(await (await fetch(await bucket.client.presign(key, 60_000))).text()).toBe(key);
        await bucket.probeWrite(key);
      }
    });

    test("a resumed tus upload arrives in the store unchanged", async () => {
      await using rig = await startUploads({ store: new S3ObjectStore(swift.settings, systemClock) });
      // Several S3 parts.
      const file = randomBytes(18_000_000);
      const id = "resumed";
      const created = await fetch(`${rig.url}/api/asset/upload/tus?token=${tokenOf(id)}`, {
        method: "POST",
        headers: { ...TUS, "upload-length": String(file.length) },
      });
      const url = new URL(created.headers.get("location") ?? "", rig.url).href;
      const patch = (offset: number, body: Uint8Array<ArrayBuffer>) =>
        fetch(url, {
          method: "PATCH",
          headers: { ...TUS, "content-type": "application/offset+octet-stream", "upload-offset": String(offset) },
          body,
        });
      expect((await patch(0, file.subarray(0, 7_000_000))).status).toBe(204);
      await rig.restart();
      const { headers } = await fetch(url, { method: "HEAD", headers: TUS });
      expect(headers.get("upload-offset")).toBe("7000000");
      expect((await patch(7_000_000, file.subarray(7_000_000))).status).toBe(204);
      await rig.server.settle();
      const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
      expect(sha256(await rig.stored(id))).toBe(sha256(file));
    });
  },
);
