import { type Route, routes } from "@weir/contract";
import { type Description, operationGroups } from "@weir/contract/descriptions";

export interface DescribedRoute {
  readonly name: string;
  readonly tag: string;
  readonly route: Route;
  readonly description: Description;
}

/** Every public operation, in the order of the reference. */
export const describedRoutes: readonly DescribedRoute[] = operationGroups.flatMap(({ tag, descriptions }) =>
  Object.entries(descriptions).map(([name, description]) => {
    const route = routes[name as keyof typeof routes];
    return { name, tag, route, description };
  }),
);

/** The path as OpenAPI writes it: `/api/stream/{id}`. */
export const pathOf = ({ path }: Route): string => path.replaceAll(/:(\w+)/g, "{$1}");
