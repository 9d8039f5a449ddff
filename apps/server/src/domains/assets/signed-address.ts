import type { Asset, Task } from "@weir/contract";

/** The query of a signed address is a credential. */
export function withoutQuery(url: string): string {
  const query = url.search(/[?#]/);
  return query === -1 ? url : `${url.slice(0, query)}?***`;
}

/** The asset for a reader who may not fetch its file from where it came. */
export function withoutSecrets(asset: Asset): Asset {
  const { source } = asset;
  return source.type === "url" ? { ...asset, source: { ...source, url: withoutQuery(source.url) } } : asset;
}

/** The same for the task that makes an asset. */
export function withoutTaskSecrets(task: Task): Task {
  const upload: unknown = task.params?.upload;
  if (typeof upload !== "object" || upload === null || !("url" in upload)) return task;
  return { ...task, params: { ...task.params, upload: { ...upload, url: withoutQuery(String(upload.url)) } } };
}
