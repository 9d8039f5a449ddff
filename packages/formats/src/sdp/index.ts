export { withCandidates, withoutCandidates } from "./answer.ts";
export { type ChosenMedia, type Offer, type OfferPurpose, OfferRefused, readOffer } from "./offer.ts";
export {
  parseSessionDescription,
  type SdpMedia,
  type SdpPayload,
  type SessionDescription,
} from "./session-description.ts";
