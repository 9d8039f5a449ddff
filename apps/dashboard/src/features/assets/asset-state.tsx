import type { Asset, AssetPhase } from "@weir/contract";
import { StateLabel, type Tone } from "../../shared/components/state-label.tsx";
import { shareText } from "../../shared/lib/quantities.ts";
import { strings } from "../../shared/strings.ts";

const text = strings.assets;

const TONES: Record<AssetPhase, Tone> = {
  uploading: "warning",
  waiting: "warning",
  processing: "warning",
  ready: "done",
  failed: "failure",
  deleting: "held",
  deleted: "held",
};

/** The phase of an asset with its progress, what is wrong with a file that failed, and whether it plays already. */
export function AssetState({ asset: { status } }: { readonly asset: Asset }) {
  const { phase, progress, errorMessage, isPlayable } = status;
  const word = text.phases[phase];
  return (
    <div>
      <StateLabel tone={TONES[phase]}>
        {progress === undefined ? word : text.percent(word, shareText(progress))}
      </StateLabel>
      {errorMessage && <p className="quiet">{errorMessage}</p>}
      {isPlayable && phase !== "ready" && <p className="quiet">{text.playable}</p>}
    </div>
  );
}
