import { routes } from "@weir/contract";
import type { FastifyInstance } from "fastify";
import { askedOrigin } from "../../platform/http/asked-origin.ts";
import { ApiRoutes, BadRequest } from "../api/index.ts";
import type { Deps } from "../deps.ts";
import type { PublicAddress } from "../public-address.ts";

export interface AddressRouteDeps extends Deps {
  readonly publicAddress: PublicAddress;
  readonly isPublicUrlSet: boolean;
}

/** The public address of this server, and an operator's choice of it. */
export function addressRoutes(app: FastifyInstance, deps: AddressRouteDeps): void {
  const api = new ApiRoutes(app, deps);
  const { publicAddress } = deps;

  api.on(routes.getServerAddress, async () => publicAddress.describe());

  api.on(routes.pinServerAddress, async ({ body: { address } }) => {
    if (deps.isPublicUrlSet)
      throw new BadRequest("WEIR_PUBLIC_URL decides the address: change it, or unset it, and start again");
    await publicAddress.pin(address === null ? null : originIn(address));
    return publicAddress.describe();
  });
}

function originIn(text: string): string {
  const [, protocol, host] = /^(https?):\/\/([^/]+)\/?$/.exec(text.trim()) ?? [];
  const origin = protocol && host ? askedOrigin({ protocol, host }) : null;
  if (origin === null)
    throw new BadRequest("give an http:// or https:// address without path, such as https://video.example.com");
  return origin;
}
