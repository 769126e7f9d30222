export type { LabelTask as RecentTask, Model as RecentModel, Overview, RunShort as RecentRun } from '../schema';
