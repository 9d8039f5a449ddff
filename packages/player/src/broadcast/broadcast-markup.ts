import { broadcastStrings as text } from "./broadcast-strings.ts";
import { SCALE_DB } from "./level-meter.ts";

const choice = (name: string, label: string): string =>
  `<div class="w-broadcast-choice" data-choice="${name}"><label for="${name}">${label}</label><select id="${name}"></select></div>`;

const figure = (name: keyof typeof text.figures): string =>
  `<div><dt>${text.figures[name]}</dt><dd data-figure="${name}"></dd></div>`;

/** The parts of the element. Words of others are set as text, never as markup. */
export const BROADCAST_MARKUP = `
  <div class="w-broadcast">
    <div class="w-broadcast-stage">
      <div class="w-broadcast-frame">
        <video aria-label="${text.preview}" autoplay muted playsinline></video>
        <p class="w-broadcast-waiting"></p>
      </div>
      <div class="w-broadcast-sound" hidden>
        <button type="button" class="w-broadcast-mute">${text.mute}</button>
        <div class="w-broadcast-level">
          <meter aria-label="${text.level}" min="0" max="1" high="0.95" optimum="0"></meter>
          <span class="w-broadcast-scale" aria-hidden="true">${SCALE_DB.map((mark) => `<span>${text.decibels(mark)}</span>`).join("")}</span>
        </div>
      </div>
      <p class="w-broadcast-silent" hidden>${text.silent}</p>
    </div>
    <div class="w-broadcast-panel">
      <div class="w-broadcast-note" role="alert" hidden>
        <strong></strong> <span></span>
        <button type="button" class="w-broadcast-retry">${text.retry}</button>
      </div>
      ${choice("source", text.source)}
      ${choice("camera", text.camera)}
      ${choice("microphone", text.microphone)}
      <button type="button" class="w-broadcast-switch">${text.begin}</button>
      <p class="w-broadcast-state" role="status"></p>
      <p class="w-broadcast-problem" hidden></p>
      <dl class="w-broadcast-figures" hidden>
        ${(["rate", "picture", "loss", "roundTrip", "retransmits"] as const).map(figure).join("")}
      </dl>
      <p class="w-broadcast-leave" hidden>${text.leave}</p>
      <slot></slot>
    </div>
  </div>`;
