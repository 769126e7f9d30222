export { BrowsePage } from './browse/BrowsePage';
export { DiffPage } from './diff/DiffPage';
export { KeepingPage } from './keeping/KeepingPage';
export { DatasetsPage } from './list/DatasetsPage';
export { VersionsPage } from './versions/VersionsPage';
