import './words';

export { ModelPage } from './ModelPage';
export { ModelsPage } from './ModelsPage';
export { ModelVersionPage } from './ModelVersionPage';
