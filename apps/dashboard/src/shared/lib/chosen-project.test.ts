import { expect, test } from "vitest";
import { addressIn } from "./chosen-project.ts";

test.each([
  [null, "/api/stream?limit=2", "/api/stream?limit=2"],
  ["p1", "/api/stream?limit=2", "/api/stream?limit=2&projectId=p1"],
  ["p1", "/api/dashboard/overview", "/api/dashboard/overview?projectId=p1"],
  ["p1", "/api/dashboard/session", "/api/dashboard/session"],
  ["p1", "/api/project", "/api/project"],
  ["p1", "/api/project/p2", "/api/project/p2"],
])("in project %s, %s is %s", (project, address, expected) => {
  expect(addressIn(project, address)).toBe(expected);
});
