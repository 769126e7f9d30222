import './words/index';

export { ComparePage } from './compare/ComparePage';
export { RunPage } from './detail/RunPage';
export { RunRetentionPage } from './keeping/RunRetentionPage';
export { RunsPage } from './list/RunsPage';
export { PredictionsPage } from './predictions/PredictionsPage';
export { QueuePage } from './queue/QueuePage';
export { NewRunPage } from './wizard/NewRunPage';
