/** The door of the API's common half: how a request is read and answered, whatever it is about. */
export {
  ApiError,
  BadRequest,
  Forbidden,
  found,
  NotFound,
  NotImplemented,
  RefusedUrl,
  TooManyRequests,
  Unauthenticated,
  UnknownKey,
} from "./api-error.ts";
export { ALREADY_SENT, type ApiRequest, ApiRoutes } from "./api-routes.ts";
export { forgetOldAnswers } from "./idempotency.ts";
export { addLaterRoutes } from "./later-routes.ts";
export { answerPage, listOf } from "./list-answer.ts";
export {
  countRows,
  fieldsOf,
  hasRows,
  isSet,
  type ListField,
  type ListFields,
  type ListRequest,
  type Page,
  parseListQuery,
  type RawQuery,
  readPage,
  textOf,
} from "./list-query.ts";
export { type DescribedRoute, describedRoutes, pathOf } from "./openapi/described-routes.ts";
export { openApiDocument } from "./openapi/openapi-document.ts";
export type { OpenApi } from "./openapi/openapi-types.ts";
export { version } from "./openapi/server-version.ts";
export { markPrincipal, type Principal, principalOf } from "./principal.ts";
export { markOrigin, originOf } from "./request-origin.ts";
export { parseStretch, type Step, type Stretch } from "./stretch.ts";
