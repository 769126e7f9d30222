export { BrowsePage } from './browse/BrowsePage';
export { DiffPage } from './diff/DiffPage';
export { DatasetsPage } from './list/DatasetsPage';
export { VersionsPage } from './versions/VersionsPage';
