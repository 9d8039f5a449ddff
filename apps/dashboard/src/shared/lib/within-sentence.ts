/** Returns a label as it is written within a sentence: "Stream key" becomes "stream key", "SRT address" stays. */
export function withinSentence(label: string): string {
  return /^\p{Lu}\p{Lu}/u.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1);
}
