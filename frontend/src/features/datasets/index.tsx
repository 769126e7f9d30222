import './words/index';

export { ActivityPage } from './activity/ActivityPage';
export { BrowsePage } from './browse/BrowsePage';
export { CleaningPage } from './cleaning/CleaningPage';
export { DiffPage } from './diff/DiffPage';
export { ItemPage } from './item/ItemPage';
export { KeepingPage } from './keeping/KeepingPage';
export { DatasetsPage } from './list/DatasetsPage';
export { DeletedPage } from './list/DeletedPage';
export { RefsPage } from './refs/RefsPage';
export { SourcesPage } from './sources/SourcesPage';
export { UploadPage } from './upload/UploadPage';
export { VersionsPage } from './versions/VersionsPage';
export { PlansPage } from './warmup/PlansPage';
export { WarmUpPage } from './warmup/WarmUpPage';
