import { expect, test } from "vitest";
import { type BannerFacts, banner } from "./banner.ts";

const FACTS: BannerFacts = {
  url: "http://localhost:8080",
  hasDashboard: true,
  rtmpUrl: "rtmp://localhost:1935/live",
  dataFolder: "/data",
  newApiKey: null,
  warnings: [],
};

test("the first start shows the key with where to keep it and how to sign in without it", () => {
  const text = banner({ ...FACTS, newApiKey: "weir_key" });
  expect(text).toContain("API key    weir_key\n");
  expect(text).toContain("password manager");
  expect(text).toContain("name and password");
  expect(banner(FACTS)).not.toContain("password");
});

test("a dashboard that is not built is not named, except as a warning", () => {
  const text = banner({
    ...FACTS,
    newApiKey: "weir_key",
    hasDashboard: false,
    warnings: ["the dashboard is not built: x"],
  });
  expect(text).not.toMatch(/open the dashboard|Dashboard/);
  expect(text).toContain("API        http://localhost:8080\n");
  expect(text).toContain("Warning    the dashboard is not built: x\n");
});

test("a process without the API names no address of it", () => {
  expect(banner({ ...FACTS, url: null, hasDashboard: false })).not.toMatch(/API|Dashboard|http/);
});
