import { Body, Controller, Query } from '@nestjs/common';
import { ReadingEndpoint } from '../../http/routing/endpoint.js';
import type { Json } from '../../http/validation/dto.js';
import type { WithRevision } from '../../revisions/with-revision.js';
import {
  AcceptDto,
  CatalogueDto,
  CatalogueSourceDto,
  CategoryDto,
  ListedNameDto,
  SearchQuery,
} from './catalogue.dto.js';
import { CatalogueService } from './catalogue.service.js';

@Controller()
export class CatalogueController {
  constructor(private readonly catalogue: CatalogueService) {}

  @ReadingEndpoint('GET /categories/', {
    summary: 'The categories of the catalogue in force, by id',
    answer: [CategoryDto],
  })
  categories(): Promise<Json<CategoryDto>[]> {
    return this.catalogue.categories();
  }

  @ReadingEndpoint('GET /catalogue/', {
    summary: 'The catalogue in force, and the lists that its definition names',
    answer: CatalogueDto,
  })
  get(): Promise<Json<CatalogueDto>> {
    return this.catalogue.get();
  }

  @ReadingEndpoint('GET /catalogue/search/', {
    summary: 'The lists that have a domain, or one above it',
    query: SearchQuery,
    answer: [ListedNameDto],
  })
  search(@Query() { domain }: SearchQuery): Promise<Json<ListedNameDto>[]> {
    return this.catalogue.search(domain);
  }

  @ReadingEndpoint('POST /catalogue/accept', {
    summary: 'Takes a list that is held back',
    body: AcceptDto,
    answer: CatalogueSourceDto,
    errors: [409],
  })
  accept(@Body() body: AcceptDto): Promise<WithRevision<Json<CatalogueSourceDto>>> {
    return this.catalogue.accept(body);
  }
}
