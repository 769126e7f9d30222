export type {
  AuditSlot,
  BatchSubmissionRequest as Submission,
  DecisionRequest as AuditDecision,
  Label,
  LabelerStats,
  LabelTask,
  LeasedSlot,
  NewLabelTaskRequest as NewLabelTask,
  Progress as LabelProgress,
  SlotResult as SubmitResult,
  Waiting,
  WorkItem,
} from '../schema';
