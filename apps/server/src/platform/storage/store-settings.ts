import { flag, matching, optional, plainAddress, secretKey, setting } from "../setting-kinds.ts";

/** Where recordings and assets are stored. */
export const STORE_SETTINGS = {
  s3Bucket: optional(
    {
      variable: "WEIR_S3_BUCKET",
      about: "S3 bucket for recordings and assets, used instead of the data folder: see docs/4-operate/storage.md.",
    },
    matching(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, "the name of a bucket: 3 to 63 of a-z, 0-9, . and -"),
  ),
  s3Endpoint: optional(
    { variable: "WEIR_S3_ENDPOINT", about: "URL of the S3 store. If unset, Amazon S3 in `WEIR_S3_REGION`." },
    plainAddress,
  ),
  s3Region: setting(
    { variable: "WEIR_S3_REGION", about: "Region of the S3 store; many stores accept any value." },
    matching(/^[A-Za-z0-9-]{1,64}$/, "1 to 64 of A-Z, a-z, 0-9 and -"),
    "us-east-1",
  ),
  s3AccessKeyId: optional(
    {
      variable: "WEIR_S3_ACCESS_KEY_ID",
      about: "Access key ID for the S3 store.",
      isSecret: true,
    },
    secretKey,
  ),
  s3SecretAccessKey: optional(
    { variable: "WEIR_S3_SECRET_ACCESS_KEY", about: "Secret access key for the S3 store.", isSecret: true },
    secretKey,
  ),
  s3PathStyle: setting(
    {
      variable: "WEIR_S3_PATH_STYLE",
      about: "1 puts the bucket in the URL path, as most stores require. 0 puts it in the host name.",
    },
    flag,
    "1",
  ),
  s3Redirects: setting(
    {
      variable: "WEIR_S3_REDIRECTS",
      about:
        "1 redirects viewers of recordings and assets to presigned addresses of the S3 store, which must be reachable for them. 0 streams the media through the server.",
    },
    flag,
    "0",
  ),
};
