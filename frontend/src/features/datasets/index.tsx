export { BrowsePage } from './browse/BrowsePage';
export { DiffPage } from './diff/DiffPage';
export { DatasetsPage } from './list/DatasetsPage';
export { SourcesPage } from './sources/SourcesPage';
export { VersionsPage } from './versions/VersionsPage';
