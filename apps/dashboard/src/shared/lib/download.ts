/** Offers text as a file to keep. What a file system does not take in a name becomes a dash. */
export function downloadText(fileName: string, text: string): void {
  const address = URL.createObjectURL(new Blob([text], { type: "application/octet-stream" }));
  const link = document.createElement("a");
  link.href = address;
  link.download = fileName.replace(/[^\p{L}\p{N}._-]+/gu, "-");
  link.click();
  // The browser reads the address after this call, so it is released later.
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
