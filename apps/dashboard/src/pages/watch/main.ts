import type { Credential, StateChange, VideoInfo, WeirPlayer } from "@weir/player";
import "@weir/player";
import { absoluteDay } from "../../shared/lib/moments.ts";
import { watchStrings as text } from "../../shared/strings/watch-strings.ts";
import { credentialInMessage, credentialInQuery } from "./credential.ts";
import { embedOptionsIn, originIn } from "./embed-options.ts";
import { lastInASecond, MessageLimit } from "./message-limit.ts";
import { type Command, ParentPage } from "./parent-page.ts";
import { fetchViews } from "./total-views.ts";
import "./watch.css";

const [, kind = "", playbackId = ""] = /^\/(watch|embed)\/([^/]+)/.exec(window.location.pathname) ?? [];
const isEmbedded = kind === "embed";
const options = embedOptionsIn(window.location.search);
/** The events of the player that the page around it is told of. */
const TOLD = ["play", "pause", "ended", "seeked", "volumechange", "timeupdate"];
/** Of events that come several times a second, one in so long. */
const TOLD_EVERY_MS = 1000;

function createPlayer(): WeirPlayer {
  const player = document.createElement("weir-player") as WeirPlayer;
  player.setAttribute("playback-id", decodeURIComponent(playbackId));
  player.setAttribute("server", "");
  player.setAttribute("label", document.title);
  for (const [name, value] of Object.entries(options.attributes)) player.setAttribute(name, value);
  if (options.colour !== null) player.style.setProperty("--weir-accent", options.colour);
  take(player, credentialInQuery(window.location.search));
  return player;
}

function take(player: WeirPlayer, credential: Credential | null): void {
  for (const [attribute, name] of [
    ["token", "jwt"],
    ["access-key", "accessKey"],
  ] as const) {
    if (credential?.name === name) player.setAttribute(attribute, credential.value);
    else player.removeAttribute(attribute);
  }
}

/** Obeys the page around the player, and tells it what happens. */
function join(player: WeirPlayer, parent: Window): void {
  const ancestor = window.location.ancestorOrigins?.[0];
  const page = new ParentPage(parent, options.origin ?? originIn(ancestor ?? document.referrer));
  const limit = new MessageLimit();
  const give = lastInASecond((credential: Credential) => take(player, credential));
  window.addEventListener("message", (event) => {
    const credential = event.source === parent ? credentialInMessage(event.data) : null;
    if (credential !== null) give(credential);
    const command = page.commandOf(event);
    if (command !== null && limit.take()) obey(player, command);
  });
  player.addEventListener("statechange", ({ detail }: CustomEventInit<StateChange>) => {
    if (detail) page.tell({ type: "weir:state", state: detail.state });
  });
  let toldAt = Number.NEGATIVE_INFINITY;
  for (const name of TOLD)
    player.addEventListener(name, ({ type }) => {
      if (type === "timeupdate" && performance.now() - toldAt < TOLD_EVERY_MS) return;
      toldAt = performance.now();
      page.tell({ type: "weir:event", event: type, currentTime: player.currentTime });
    });
  // It names nothing but the id, which the page around has in the address of this one.
  parent.postMessage({ type: "weir:ready", playbackId }, "*");
}

function obey(player: WeirPlayer, command: Command): void {
  if (command.name === "play") void player.play().catch(() => {});
  else if (command.name === "pause") player.pause();
  else if (command.name === "live") player.goLive();
  else if (command.name === "seek") player.currentTime = command.seconds;
  else player.muted = command.name === "mute";
}

/** The title, and below it what anybody may know of a public video. */
class Words {
  readonly element = document.createElement("header");
  readonly #facts = document.createElement("p");
  /** Null until they are known, and for gated videos. */
  #views: Promise<number> | null = null;
  /** Numbers what was told: an older answer does not replace a newer one. */
  #told = 0;

  constructor() {
    const title = document.createElement("h1");
    title.textContent = document.title;
    this.element.append(title, this.#facts);
  }

  /** How many watch a public video and watched it before, and when it began. */
  async tell({ state, startedAt, viewers, isPublic }: VideoInfo): Promise<void> {
    if (isPublic) this.#views ??= fetchViews(playbackId);
    const told = ++this.#told;
    const views = (await this.#views) ?? 0;
    if (told !== this.#told) return;
    const when = state === "offline" ? text.lastLive : state === "live" ? text.started : absoluteDay;
    this.#facts.textContent = [
      ...(viewers !== null && viewers > 0 ? [text.watching(viewers)] : []),
      ...(startedAt === null ? [] : [when(startedAt)]),
      ...(views > 0 ? [text.views(views)] : []),
    ].join(" · ");
  }
}

function start(place: HTMLElement): void {
  document.documentElement.dataset.kind = kind;
  const player = createPlayer();
  const words = new Words();
  if (!isEmbedded)
    player.addEventListener("statechange", ({ detail }: CustomEventInit<StateChange>) => {
      const video = detail?.video ?? null;
      if (video === null) return;
      void words.tell(video);
      // Behind the page, so that an upright phone shows no void. Only a public video's: others need a credential.
      if (video.isPublic && video.poster !== null)
        place.style.setProperty("--w-poster", `url(${JSON.stringify(`${video.poster}?width=320`)})`);
    });
  if (isEmbedded && window.parent !== window) join(player, window.parent);
  place.replaceChildren(player, words.element);
  // The last report of a page that goes away, and another begin of one that comes back.
  window.addEventListener("pagehide", () => player.remove());
  window.addEventListener("pageshow", ({ persisted }) => persisted && place.prepend(player));
}

const place = document.getElementById("watch");
if (place) start(place);
