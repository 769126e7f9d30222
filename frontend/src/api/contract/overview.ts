import type { Dataset } from './datasets';
import type { Get, InProject, Person } from './shapes';

/** The few fields of a run that the overview shows. */
export interface RecentRun {
  id: string;
  number: number;
  name: string;
  state: string;
  progress: number | null;
  progress_text: string;
  failure_class: string | null;
  failure_reason: string | null;
  created_by: Person | null;
  created_at: string;
  started_at: string | null;
  finished_at: string | null;
}

export interface RecentTask {
  id: string;
  name: string;
  state: string;
  dataset?: string;
  progress: { total: number; ready: number; labeling: number; audit: number; rework: number; accepted: number };
}

export interface RecentModel {
  id: string;
  name: string;
  updated_at: string;
  latest?: { number: number } | null;
  versions_count?: number;
}

export interface Overview {
  runs: { queued: number; running: number; failed_24h: number; recent: RecentRun[] };
  labeling: { open_items: number; tasks: RecentTask[] };
  datasets: Dataset[];
  models: RecentModel[];
}

export interface OverviewPaths {
  '/api/v1/projects/{p}/overview/': { get: Get<Overview, InProject> };
}
