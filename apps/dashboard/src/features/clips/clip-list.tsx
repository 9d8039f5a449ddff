import { IconScissors } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { QueryProblem } from "../../shared/components/query-problem.tsx";
import { secondsText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";
import { Thumbnail, thumbnailOf } from "../preview/thumbnail.tsx";
import classes from "./clip-list.module.css";
import { clipsQuery } from "./clip-queries.ts";

const text = strings.clips;

/** Clips of a stream, session or asset, each with its length or how far it is. */
export function ClipList({ of }: { readonly of: string }) {
  const { data: clips = [], error } = useQuery(clipsQuery(of));
  if (error) return <QueryProblem error={error} />;
  if (clips.length === 0) return <p className="quiet">{text.none}</p>;
  return (
    <ul className={classes.clips}>
      {clips.map(({ id, name, status, videoSpec, playbackId, playbackPolicy }) => (
        <li key={id}>
          <Thumbnail
            path={status.isPlayable ? thumbnailOf(playbackId) : null}
            playbackId={playbackId}
            policy={playbackPolicy}
          >
            <IconScissors size={18} />
          </Thumbnail>
          <Link to="/assets/$assetId" params={{ assetId: id }}>
            {name}
          </Link>
          <span className="quiet">
            {status.phase === "ready"
              ? secondsText((videoSpec?.duration ?? 0) * 1000)
              : strings.assets.phases[status.phase]}
          </span>
        </li>
      ))}
    </ul>
  );
}
