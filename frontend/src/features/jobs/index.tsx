import './words';

export { ComparePage } from './compare/ComparePage';
export { RunPage } from './detail/RunPage';
export { RunsPage } from './list/RunsPage';
export { QueuePage } from './queue/QueuePage';
export { NewRunPage } from './wizard/NewRunPage';
