import { playerStrings as text } from "./player-strings.ts";

/** The speeds that a viewer can choose for a recording. */
const RATES = [0.5, 1, 1.5, 2];

// Texts are set as text, never as markup.
const unmuteButton = `<button type="button" class="w-player-unmute" hidden>${text.unmute}</button>`;

const seekBar = '<media-control-bar class="w-player-seek"><media-time-range></media-time-range></media-control-bar>';

const rewindBar = `<media-control-bar class="w-player-seek" hidden><input type="range" class="w-player-rewind" min="0" max="1" step="any" value="1" aria-label="${text.goBack}"></media-control-bar>`;

/** The player as plain elements: the controls of media-chrome, and ours. */
export function markup(live: boolean, isLatencyShown: boolean): string {
  return `
    <media-controller class="w-player${isLatencyShown ? " w-player-with-latency" : ""}" defaultstreamtype="${live ? "live" : "on-demand"}" novolumepref nomutedpref>
      <video slot="media" muted playsinline></video>
      <media-loading-indicator slot="centered-chrome" noautohide></media-loading-indicator>
      <span slot="centered-chrome" class="w-player-loading" role="status" aria-label="${text.loading}" noautohide></span>
      <div slot="top-chrome" class="w-player-top" noautohide>
        <p class="w-player-problem" role="status" dir="auto" hidden></p>
        <slot name="top"></slot>
      </div>
      ${live ? rewindBar : seekBar}
      <media-control-bar>
        <media-play-button></media-play-button>
        <media-mute-button></media-mute-button>
        ${unmuteButton}
        <media-volume-range></media-volume-range>
        ${live ? `<media-live-button></media-live-button><span class="w-player-behind" hidden></span><button type="button" class="w-player-realtime" aria-pressed="false" title="${text.realTimeHint}" hidden>${text.realTime}</button>` : '<span class="w-player-time"></span>'}
        <span class="w-player-latency" hidden></span>
        <span class="w-player-space"></span>
        <select class="w-player-quality" aria-label="${text.quality}" title="${text.quality}" hidden></select>
        ${live ? "" : `<select class="w-player-rate" aria-label="${text.speed}" title="${text.speed}">${RATES.map(rateOption).join("")}</select>`}
        <slot name="controls"></slot>
        <button type="button" class="w-player-screens" aria-pressed="false" hidden>${text.otherScreen}</button>
        <media-airplay-button></media-airplay-button>
        <media-pip-button></media-pip-button>
        <media-fullscreen-button></media-fullscreen-button>
      </media-control-bar>
    </media-controller>`;
}

const rateOption = (rate: number): string =>
  `<option value="${rate}"${rate === 1 ? " selected" : ""}>${rate}×</option>`;
