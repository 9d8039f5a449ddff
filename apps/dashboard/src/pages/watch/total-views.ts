import type { TotalViews } from "@weir/contract";

/** The views that a public video ever had, from its public record; 0 where that has none. */
export async function fetchViews(playbackId: string): Promise<number> {
  try {
    const response = await fetch(`/api/data/views/query/total/${encodeURIComponent(playbackId)}`);
    return response.ok ? ((await response.json()) as TotalViews).viewCount : 0;
  } catch {
    return 0;
  }
}
