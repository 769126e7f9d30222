export type {
  LabelTask as RecentTask,
  Model as RecentModel,
  Overview,
  RunningPlan,
  RunShort as RecentRun,
} from '../schema';
