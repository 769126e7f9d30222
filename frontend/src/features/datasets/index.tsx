export { BrowsePage } from './browse/BrowsePage';
export { CleaningPage } from './cleaning/CleaningPage';
export { DiffPage } from './diff/DiffPage';
export { KeepingPage } from './keeping/KeepingPage';
export { DatasetsPage } from './list/DatasetsPage';
export { DeletedPage } from './list/DeletedPage';
export { SourcesPage } from './sources/SourcesPage';
export { VersionsPage } from './versions/VersionsPage';
