import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { overviewQuery } from "../../features/overview/overview-queries.ts";
import page from "../../shared/components/page.module.css";
import { strings } from "../../shared/strings.ts";

const text = strings.streams.counts;

/** How many streams there are, and how many are live and unhealthy; each number leads to its streams. */
export function StreamCounts() {
  const { data } = useQuery(overviewQuery);
  // The line keeps its height until the numbers arrive.
  if (!data) return <p>&nbsp;</p>;
  const { total, live, unhealthy } = data.streams;
  return (
    <p className={page.facts}>
      <Link to="/streams">{text.all(total)}</Link>
      {live > 0 && (
        <Link to="/streams" search={{ state: "active" }}>
          {text.live(live)}
        </Link>
      )}
      {unhealthy > 0 && (
        <Link to="/streams" search={{ state: "unhealthy" }}>
          {text.unhealthy(unhealthy)}
        </Link>
      )}
    </p>
  );
}
