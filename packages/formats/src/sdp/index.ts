export { withCandidates, withoutCandidates } from "./answer.ts";
export { type ChosenMedia, type Offer, type OfferPurpose, OfferRefused, readOffer } from "./offer.ts";
