// Package templates has the pages' HTML and the message catalogue.
package templates
