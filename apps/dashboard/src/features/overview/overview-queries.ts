import { queryOptions } from "@tanstack/react-query";
import { weir } from "../../lib/weir.ts";

export const overviewQuery = queryOptions({
  queryKey: ["streams", "overview"],
  queryFn: ({ signal }) => weir.dashboard.overview({ signal }),
  refetchInterval: 5000,
});
