import './words/index';

export { ModelPage } from './ModelPage';
export { ModelsPage } from './ModelsPage';
export { ModelVersionPage } from './ModelVersionPage';
