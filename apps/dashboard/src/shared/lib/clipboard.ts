/** Puts text on the clipboard. False when the browser does not let us. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copyBySelection(text);
  }
}

/** `navigator.clipboard` exists on https and localhost only; a Weir on the local network is often neither. */
function copyBySelection(text: string): boolean {
  const area = document.createElement("textarea");
  area.value = text;
  area.style.position = "fixed";
  area.style.opacity = "0";
  // Next to the focused element, because a dialog takes the focus back from elements outside it.
  (document.activeElement?.parentElement ?? document.body).append(area);
  area.select();
  const copied = document.execCommand("copy");
  area.remove();
  return copied;
}
