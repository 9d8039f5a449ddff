import type { BannerFacts } from "../banner.ts";
import type { ProcessShare, UdpPorts } from "../process-share.ts";

/** From the parent. `drain`: the whole server is about to stop, so no process leaves its streams to another. */
export type ToProcess =
  | { readonly kind: "start"; readonly share: ProcessShare }
  | { readonly kind: "drain" | "stop" }
  | { readonly kind: "metrics"; readonly id: number };

/** To the parent. `failed`: a sentence for the operator; the process then ends. */
export type FromProcess =
  | { readonly kind: "ready"; readonly facts: BannerFacts; readonly udp: UdpPorts }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "drained" }
  | { readonly kind: "metrics"; readonly id: number; readonly text: string };
