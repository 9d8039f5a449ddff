import { ERROR_CODES, type ErrorCode } from "@weir/contract";
import { errorsOf } from "@weir/contract/descriptions";
import { describedRoutes } from "../api/index.ts";
import { addressOf, type DocsPage, fence, headingId, table } from "./docs-page.ts";
import { groupPath } from "./reference-pages.ts";

const codes = Object.keys(ERROR_CODES) as ErrorCode[];

/** One page for each code of an error, and one with all of them. */
export function errorPages(): DocsPage[] {
  const rows = codes.map((code) => [
    `[\`${code}\`](${addressOf(`errors/${code}`)})`,
    ERROR_CODES[code].statuses.join(", "),
    ERROR_CODES[code].meaning,
  ]);
  const all = [
    "# Errors",
    "Programs should decide by `code`; `message` is for people, and `requestId` finds the request in the server's log.",
    table(["Code", "Status", "Meaning"], rows),
  ].join("\n\n");
  return [{ path: "errors", section: "Errors", title: "Errors", markdown: all }, ...codes.map(errorPage)];
}

function errorPage(code: ErrorCode): DocsPage {
  const { statuses, meaning, remedy } = ERROR_CODES[code];
  const operations = describedRoutes.filter(({ route, description }) => errorsOf(route, description).includes(code));
  const isCommon = operations.length === describedRoutes.length;
  const list = operations.map(
    ({ route, tag }) => `- [${route.summary}](${addressOf(groupPath(tag))}#${headingId(route.summary)})`,
  );
  const body = {
    errors: [meaning],
    message: meaning,
    code,
    requestId: "9f1c2e7a6b3d4805",
    docs: addressOf(`errors/${code}`),
  };
  const markdown = [
    `# ${code}`,
    `Status ${statuses.join(" or ")}.`,
    `## What happened\n\n${meaning}`,
    `## What to do\n\n${remedy}`,
    `## Example\n\n${fence("json", JSON.stringify(body, null, 2))}`,
    ...(list.length === 0 ? [] : [`## Operations\n\n${isCommon ? "Every operation can answer it." : list.join("\n")}`]),
  ].join("\n\n");
  return { path: `errors/${code}`, section: "Errors", title: code, markdown };
}
