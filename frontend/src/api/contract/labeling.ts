import type { Get, InProject, Listing, PageQuery, Person, Send } from './shapes';

export interface Label {
  id: number;
  name: string;
  color: string;
  hotkey: string;
}

export interface LabelProgress {
  total: number;
  ready: number;
  labeling: number;
  audit: number;
  rework: number;
  accepted: number;
}

export interface LabelTask {
  id: string;
  name: string;
  state: string;
  modality: string;
  dataset: string;
  /** Such as `v2`. */
  dataset_ref: string;
  labels: Label[];
  guideline: string;
  batch_size: number;
  audit_percent: number;
  lease_ttl_s: number;
  progress: LabelProgress;
  my?: { leased: number; returned?: number };
  output_version: { ref: string } | null;
  publish_error?: { code: string; detail: string } | null;
  created_by: Person | null;
  created_at: string;
}

export interface NewLabelTask {
  name: string;
  dataset: string;
  labels: { name: string; color: string; hotkey: string }[];
  filter: { prefix?: string; labelled?: boolean };
  batch_size: number;
  audit_percent: number;
  guideline: string;
}

export interface LeasedSlot {
  id: string;
  item_id: string;
  lease_no: number;
  expires_at: string | null;
  path: string;
  media_url: string;
  thumb_url: string | null;
  draft: { label_id?: number | null } | null;
  /** Grows with every save of the draft. */
  draft_seq?: number | null;
  returned_comment: string | null;
  returned_code?: string | null;
  state?: string;
}

export interface Submission {
  slot: string;
  lease_no: number;
  idempotency_key: string;
  label_id: number;
  active_ms: number;
}

export interface SubmitResult {
  slot: string;
  ok: boolean;
  code?: string;
}

export interface AuditSlot {
  item_id: string;
  slot_id: string;
  lease_no: number;
  path: string;
  media_url: string;
  thumb_url?: string | null;
  label_id: number;
  labeler: string;
  revision_id: string;
}

export interface AuditDecision {
  slot: string;
  lease_no: number;
  revision: string;
  verdict: 'accept' | 'return';
  error_code?: string;
  comment?: string;
}

export interface LabelerStats {
  labeler: string;
  submitted: number;
  returned: number;
  accepted: number;
  median_active_ms: number | null;
}

interface ById {
  id: string;
}
type Leases<T> = { lease: T[] };

export interface LabelingPaths {
  '/api/v1/projects/{p}/labelx/tasks/': {
    get: Get<Listing<LabelTask>, InProject, PageQuery>;
    post: Send<LabelTask, NewLabelTask, InProject>;
  };
  '/api/v1/labelx/tasks/{id}/': { get: Get<LabelTask, ById> };
  '/api/v1/labelx/tasks/{id}/start/': { post: Send<LabelTask, undefined, ById> };
  '/api/v1/labelx/tasks/{id}/pause/': { post: Send<LabelTask, undefined, ById> };
  '/api/v1/labelx/tasks/{id}/publish/': { post: Send<LabelTask, { partial?: boolean }, ById> };
  '/api/v1/labelx/tasks/{id}/stats/': { get: Get<Listing<LabelerStats>, ById> };
  '/api/v1/labelx/tasks/{id}/my-work/': { get: Get<Listing<LeasedSlot>, ById> };
  '/api/v1/labelx/tasks/{id}/lease/': { post: Send<Leases<LeasedSlot>, undefined, ById, { n: number }> };
  '/api/v1/labelx/tasks/{id}/submit-batch/': {
    post: Send<{ results: SubmitResult[] }, { submissions: Submission[] }, ById>;
  };
  '/api/v1/labelx/tasks/{id}/audit-lease/': { post: Send<Leases<AuditSlot>, undefined, ById, { n: number }> };
  '/api/v1/labelx/audits/': { post: Send<{ results: SubmitResult[] }, { decisions: AuditDecision[] }> };
  '/api/v1/labelx/slots/{id}/heartbeat/': { post: Send<undefined, { lease_no: number }, ById> };
  '/api/v1/labelx/slots/{id}/release/': { post: Send<undefined, { lease_no: number }, ById> };
  '/api/v1/labelx/slots/{id}/skip/': { post: Send<undefined, { lease_no: number }, ById> };
  '/api/v1/labelx/slots/{id}/draft/': {
    put: Send<undefined, { seq: number; lease_no: number; document: { label_id: number | null } }, ById>;
  };
}
